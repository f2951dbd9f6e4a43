"""Trainable parameters of a transformer that encodes tokens: Vaswani et al. (2017), sections 3.2 to 3.4.

    embedding        V d
    attention        4 d² + 4 d                 W_Q, W_K, W_V, W_O and their biases, for any number of heads
    feed-forward     2 d d_ff + d_ff + d        two linear layers
    layer norms      4 d                        gain and bias, two norms in each layer
    head             d n_out + n_out            n_out = V for a language model, the number of classes for a classifier

Sinusoidal positions are not trained. A head has width d / n_heads, so the number of heads changes nothing.
"""


def embedding_parameters(V: int, d: int) -> int:
    """Count a row of d numbers for each of V tokens."""
    return V * d


def attention_parameters(d: int, bias: bool = True) -> int:
    """Count four matrices (d, d), each with a bias of d if there are biases."""
    return 4 * d * d + (4 * d if bias else 0)


def feed_forward_parameters(d: int, d_ff: int, bias: bool = True) -> int:
    """Count d → d_ff → d."""
    return 2 * d * d_ff + (d_ff + d if bias else 0)


def layer_norm_parameters(d: int) -> int:
    """Count gain and bias of the two layer norms of one layer; their position does not matter."""
    return 4 * d


def head_parameters(d: int, n_out: int, bias: bool = True) -> int:
    """Count d → n_out."""
    return d * n_out + (n_out if bias else 0)


def count_parameters(V: int, d: int, n_layers: int, n_heads: int, d_ff: int, n_out: int, bias: bool = True) -> int:
    """Count the trainable parameters of embedding, `n_layers` encoder layers and head.

    Args:
        V: size of the vocabulary.
        d: dimension of the model.
        n_layers: number of encoder layers.
        n_heads: number of heads of each layer.
        d_ff: inner dimension of the feed-forward layers.
        n_out: outputs of the head.
        bias: False counts the linear layers without their biases (layer norms keep theirs).

    Raises:
        ValueError: d is not a multiple of n_heads.
    """
    if d % n_heads:
        raise ValueError(f"d = {d} is no multiple of the {n_heads} heads")
    layer = attention_parameters(d, bias) + feed_forward_parameters(d, d_ff, bias) + layer_norm_parameters(d)
    return embedding_parameters(V, d) + n_layers * layer + head_parameters(d, n_out, bias)
