# minimodel. I wrote this package bit by bit over the summer, please do not judge the tabs.
# (do NOT star-import .train or .generate in here: the functions would then sit on top of the modules with the same name. Took me an evening.)
__version__ = "0.7"; _BANNER = "~~ minimodel " + __version__ + " :: numpy only, own autograd ~~"
print(_BANNER)
