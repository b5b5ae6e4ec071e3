import torch

from modelo import ModeloLenguaje

texto = open("quijote.txt", encoding="utf-8").read()
letras = sorted(set(texto))
indice = {c: i for i, c in enumerate(letras)}
datos = torch.tensor([indice[c] for c in texto])
contexto, lote, pasos = 64, 32, 3000
modelo = ModeloLenguaje(len(letras), contexto=contexto)
optimizador = torch.optim.Adam(modelo.parameters(), lr=1e-3)
for paso in range(pasos):
    modelo.train()
    i = torch.randint(len(datos) - contexto - 1, (lote,))
    x = torch.stack([datos[j : j + contexto] for j in i])
    y = torch.stack([datos[j + 1 : j + contexto + 1] for j in i])
    _, perdida = modelo(x, y)
    optimizador.zero_grad()
    perdida.backward()
    optimizador.step()
    if paso % 500 == 0:
        print(modelo.generar(x[:1, :1], 5))
