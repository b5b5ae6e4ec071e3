"""Un modelo de lenguaje pequeño."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Atencion(nn.Module):
    def __init__(self, dim_modelo, num_cabezas):
        super().__init__()
        self.num_cabezas = num_cabezas
        self.consultas = nn.Linear(dim_modelo, dim_modelo)
        self.claves = nn.Linear(dim_modelo, dim_modelo)
        self.valores = nn.Linear(dim_modelo, dim_modelo)
        self.salida = nn.Linear(dim_modelo, dim_modelo)

    def separar(self, x):
        lote, largo, dim = x.shape
        return x.reshape(lote, largo, self.num_cabezas, dim // self.num_cabezas).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.separar(self.consultas(x)), self.separar(self.claves(x)), self.separar(self.valores(x))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        lote, cabezas, largo, dim = y.shape
        return self.salida(y.transpose(1, 2).reshape(lote, largo, cabezas * dim))


class Bloque(nn.Module):
    def __init__(self, dim_modelo, num_cabezas):
        super().__init__()
        self.norma1 = nn.LayerNorm(dim_modelo)
        self.norma2 = nn.LayerNorm(dim_modelo)
        self.atencion = Atencion(dim_modelo, num_cabezas)
        self.entrada = nn.Linear(dim_modelo, 4 * dim_modelo)
        self.salida = nn.Linear(4 * dim_modelo, dim_modelo)

    def forward(self, x):
        x = x + self.atencion(self.norma1(x))
        h = F.gelu(self.entrada(self.norma2(x)))
        return x + self.salida(h)


class ModeloLenguaje(nn.Module):
    def __init__(self, vocab, dim_modelo=128, num_cabezas=4, num_capas=4, contexto=64):
        super().__init__()
        self.contexto = contexto
        self.tabla = nn.Embedding(vocab, dim_modelo)
        self.posiciones = nn.Parameter(torch.randn(1, contexto, dim_modelo) * 0.02)
        self.bloques = nn.ModuleList([Bloque(dim_modelo, num_cabezas) for _ in range(num_capas)])
        self.norma = nn.LayerNorm(dim_modelo)
        self.cabeza = nn.Linear(dim_modelo, vocab)

    def forward(self, entrada, objetivo=None):
        x = self.tabla(entrada) + self.posiciones[:, : entrada.shape[1]]
        for bloque in self.bloques:
            x = bloque(x)
        logits = self.cabeza(self.norma(x))
        if objetivo is None:
            return logits
        return logits, F.cross_entropy(logits.transpose(1, 2), objetivo)

    @torch.no_grad()
    def generar(self, contexto, nuevos, temperatura=1.0):
        self.eval()
        for _ in range(nuevos):
            logits = self(contexto[:, -self.contexto :])[:, -1]
            p = torch.softmax(logits / temperatura, -1)
            contexto = torch.cat([contexto, torch.multinomial(p, 1)], 1)
        return contexto
