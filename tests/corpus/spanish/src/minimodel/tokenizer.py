"""BPE a nivel de bytes, sin partir antes el texto en palabras."""

from collections import Counter
from dataclasses import dataclass, field


def _a_bytes(texto):
    """Lista de trocitos de un byte. surrogatepass: que no falle con medios emojis sueltos."""
    return [bytes([b]) for b in texto.encode("utf-8", errors="surrogatepass")]


def _fusionar(simbolos, pareja):
    """Une cada aparición de la pareja, de izquierda a derecha y sin solaparse."""
    izquierda, derecha = pareja
    unido = izquierda + derecha
    resultado, desde, ultimo = [], 0, len(simbolos) - 1
    donde = 0
    while True:
        try:
            # index salta (en C) hasta el próximo candidato
            donde = simbolos.index(izquierda, donde, max(ultimo, 0))
        except ValueError:
            break
        if simbolos[donde + 1] == derecha:
            resultado += simbolos[desde:donde]
            resultado.append(unido)
            donde += 2
            desde = donde
        else:
            donde += 1
    resultado += simbolos[desde:]
    return resultado


@dataclass(eq=False)
class BPETokenizer:
    """Los ids 0..255 son los bytes; el 256 + i es la fusión número i."""

    merges: list[tuple[bytes, bytes]] = field(default_factory=list)
    piezas: list[bytes] = field(init=False, repr=False)
    numero: dict[bytes, int] = field(init=False, repr=False)

    def __post_init__(self):
        self.piezas = [bytes([b]) for b in range(256)] + [a + b for a, b in self.merges]
        self.numero = {}
        for i, pieza in enumerate(self.piezas):
            # dos fusiones distintas pueden dar los mismos bytes: manda la primera
            self.numero.setdefault(pieza, i)

    @property
    def vocab_size(self):
        return len(self.piezas)

    @classmethod
    def train(cls, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(f"vocab_size tiene que ser al menos 256 (los bytes), no {vocab_size}")
        simbolos, fusiones = _a_bytes(text), []
        while len(fusiones) < vocab_size - 256 and len(simbolos) > 1:
            cuenta = Counter(zip(simbolos, simbolos[1:]))
            mejor = max(cuenta, key=lambda pareja: (cuenta[pareja], pareja))
            fusiones.append(mejor)
            simbolos = _fusionar(simbolos, mejor)
        return cls(fusiones)

    def encode(self, text):
        simbolos = _a_bytes(text)
        for pareja in self.merges:
            simbolos = _fusionar(simbolos, pareja)
        return [self.numero[s] for s in simbolos]

    def decode(self, ids):
        trozos = []
        for i in ids:
            if not 0 <= i < len(self.piezas):
                raise IndexError(f"el id {i} está fuera del vocabulario de tamaño {self.vocab_size}")
            trozos.append(self.piezas[i])
        crudo = b"".join(trozos)
        try:
            return crudo.decode("utf-8", errors="surrogatepass")
        except UnicodeDecodeError:
            # un modelo a medio entrenar puede inventar bytes que no son UTF-8
            return crudo.decode("utf-8", errors="replace")
