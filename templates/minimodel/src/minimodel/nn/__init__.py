"""The layers of the model. Import them from their own modules: `from minimodel.nn.norm import LayerNorm`."""
