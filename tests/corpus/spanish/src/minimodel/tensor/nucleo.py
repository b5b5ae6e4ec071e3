"""La clase Tensor. Aquí casi no hay cuentas: cada método llama a su Funcion."""

import numpy as np

from ..utilidades.formas import permutacion
from ..utilidades.grafo import propagar
from . import op_aritmetica as arit
from . import op_elementales as elem
from . import op_forma as forma_
from . import op_reduccion as red


def como_tensor(x):
    """Deja los Tensores como están y envuelve lo demás."""
    return x if isinstance(x, Tensor) else Tensor(x)


class Tensor:
    # para que `ndarray + Tensor` llegue a nuestro __radd__ y no se ponga NumPy a iterar
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False):
        """Copia los datos (como torch.tensor): el arreglo de quien llama no se toca jamás."""
        if isinstance(data, Tensor):
            data = data.data
        datos = np.array(data)
        if datos.dtype.kind != "f":
            datos = datos.astype(np.float64)
        self.data = datos
        self.grad = None
        self.requires_grad = bool(requires_grad)
        self._ctx = None

    @classmethod
    def _nacer(cls, datos, ctx):
        """Tensor que sale de una operación: sin copia y con su contexto."""
        nuevo = cls.__new__(cls)
        nuevo.data = np.asarray(datos)
        nuevo.grad = None
        nuevo.requires_grad = ctx is not None
        nuevo._ctx = ctx
        return nuevo

    # ---------------------------------------------------------------- datos
    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def dtype(self):
        return self.data.dtype

    def __len__(self):
        return len(self.data)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype)

    def __repr__(self):
        return f"{type(self).__name__}(forma={self.shape}, tipo={self.dtype})"

    # ------------------------------------------------------------ gradiente
    def backward(self, grad=None):
        """Propaga hacia atrás y acumula en las hojas. Sin `grad` solo vale un escalar."""
        if grad is None:
            if self.ndim != 0:
                raise ValueError(
                    f"backward() sin gradiente solo vale para un escalar, no para {self.shape}"
                )
            grad = np.ones((), dtype=self.data.dtype)
        else:
            if isinstance(grad, Tensor):
                grad = grad.data
            grad = np.array(grad, dtype=self.data.dtype)
            if grad.shape != self.shape:
                raise ValueError(
                    f"el gradiente tiene forma {grad.shape} y el tensor {self.shape}"
                )
        if not self.requires_grad:
            raise RuntimeError("este tensor no depende de nada que pida gradiente")
        propagar(self, grad)

    def _acumular(self, g):
        # siempre un arreglo nuevo: dos hojas no deben compartir su .grad
        self.grad = np.array(g) if self.grad is None else np.asarray(self.grad + g)

    # ----------------------------------------------------------- aritmética
    def _pareja(self, otro):
        """El otro operando como Tensor; los números sueltos toman mi dtype (float32 se queda)."""
        if isinstance(otro, Tensor):
            return otro
        arreglo = np.asarray(otro)
        if arreglo.dtype.kind not in "biuf":
            raise TypeError(f"no sé operar un Tensor con {type(otro).__name__}")
        if arreglo.ndim == 0 or arreglo.dtype.kind != "f":
            arreglo = arreglo.astype(self.data.dtype)
        return Tensor(arreglo)

    def __add__(self, otro):
        return arit.Suma.aplicar(self, self._pareja(otro))

    def __radd__(self, otro):
        return arit.Suma.aplicar(self._pareja(otro), self)

    def __sub__(self, otro):
        return arit.Resta.aplicar(self, self._pareja(otro))

    def __rsub__(self, otro):
        return arit.Resta.aplicar(self._pareja(otro), self)

    def __mul__(self, otro):
        return arit.Producto.aplicar(self, self._pareja(otro))

    def __rmul__(self, otro):
        return arit.Producto.aplicar(self._pareja(otro), self)

    def __truediv__(self, otro):
        return arit.Cociente.aplicar(self, self._pareja(otro))

    def __rtruediv__(self, otro):
        return arit.Cociente.aplicar(self._pareja(otro), self)

    def __pow__(self, otro):
        return arit.Potencia.aplicar(self, self._pareja(otro))

    def __rpow__(self, otro):
        return arit.Potencia.aplicar(self._pareja(otro), self)

    def __matmul__(self, otro):
        return arit.ProductoMatricial.aplicar(self, self._pareja(otro))

    def __rmatmul__(self, otro):
        return arit.ProductoMatricial.aplicar(self._pareja(otro), self)

    def __neg__(self):
        return arit.Negacion.aplicar(self)

    # ----------------------------------------------------------- reducciones
    def sum(self, axis=None, keepdims=False):
        return red.SumaEjes.aplicar(self, eje=axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims=False):
        return red.MediaEjes.aplicar(self, eje=axis, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return red.MaximoEjes.aplicar(self, eje=axis, keepdims=keepdims)

    def softmax(self, dim=-1):
        return red.Softmax.aplicar(self, eje=dim)

    # ------------------------------------------------- elemento a elemento
    def exp(self):
        return elem.Exponencial.aplicar(self)

    def log(self):
        return elem.Logaritmo.aplicar(self)

    def sqrt(self):
        return elem.RaizCuadrada.aplicar(self)

    def tanh(self):
        return elem.TangenteHiperbolica.aplicar(self)

    def sigmoid(self):
        return elem.Sigmoide.aplicar(self)

    def relu(self):
        return elem.Relu.aplicar(self)

    # ----------------------------------------------------------------- forma
    def reshape(self, *shape):
        """reshape(2, -1) o reshape((2, -1)), da igual."""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return forma_.Redimensionar.aplicar(self, forma=shape)

    def transpose(self, *axes):
        """Una tupla es una permutación; dos enteros, un intercambio; nada, todo al revés."""
        return forma_.Permutar.aplicar(self, orden=permutacion(axes, self.ndim))

    def __getitem__(self, indice):
        return forma_.Indexar.aplicar(self, indice=indice)
