# nothing here on purpose: import from the single files, e.g. minimodel.nn.lstm
