if __package__:
    from ._core import MiniGPT, MiniGPTConfig
else:  # python src/minimodel/mini_gpt.py
    from _core import MiniGPT, MiniGPTConfig

if __name__ == "__main__":
    model = MiniGPT(MiniGPTConfig())
    for name, p in model.named_parameters():
        print(f"{name:24}{str(p.shape):>12}{p.size:>8}")
    print(f"{'':36}{sum(p.size for p in model.parameters()):>8}")
