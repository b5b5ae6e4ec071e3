import torch


@torch.inference_mode()
def sample(model, tokens, max_new_tokens, temperature=0.8, top_p=0.9):
    for _ in range(max_new_tokens):
        window = tokens if tokens.size(1) <= model.args.max_seq_len else tokens[:, -model.args.max_seq_len :]
        logits = model(window)[:, -1]
        probs = torch.softmax(logits / temperature, dim=-1)
        sorted_probs, order = torch.sort(probs, dim=-1, descending=True)
        cumulative = torch.cumsum(sorted_probs, dim=-1)
        drop = cumulative - sorted_probs > top_p
        sorted_probs[drop] = 0.0
        sorted_probs /= sorted_probs.sum(dim=-1, keepdim=True)
        choice = torch.multinomial(sorted_probs, num_samples=1)
        tokens = torch.cat([tokens, torch.gather(order, -1, choice)], dim=1)
    return tokens
