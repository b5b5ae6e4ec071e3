from .._core import LSTM, lstm_cell
