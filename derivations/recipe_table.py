"""The rows of libraries in the table of recipes, as their sources say it."""

from varlaw.derivations.recipes import (
    Constant,
    Normal,
    Orthogonal,
    Recipe,
    Truncated,
    Uniform,
)

TORCH = "https://github.com/pytorch/pytorch/blob/main/torch/nn/"
KERAS = "https://github.com/keras-team/keras/blob/master/keras/src/"
FLAX = "https://github.com/google/flax/blob/main/flax/linen/"
JAX = "https://github.com/jax-ml/jax/blob/main/jax/_src/nn/initializers.py"

DEFAULT = ("pytorch-linear-bound", "pytorch-linear-variance")
STD_AT_TWO = "0.87962566103423978"  # by which Keras and JAX divide before they truncate
UNDONE = "the truncation is made up for: the variance is what the name says"
XAVIER = ("xavier", "xavier-uniform")


def corrected(std: str) -> Truncated:
    """Truncated at two standard deviations, of standard deviation `std` after truncation."""
    return Truncated(f"{std}/{STD_AT_TWO}", f"2*{std}/{STD_AT_TWO}")


def cut(std: str) -> Truncated:
    """Truncated at two standard deviations, of `std` before."""
    return Truncated(std, f"2*{std}")


LIBRARIES = (
    Recipe(
        "pytorch-linear",
        "weight",
        Uniform("1/sqrt(m)"),
        TORCH + "modules/linear.py",
        "m",
        DEFAULT,
        "kaiming_uniform_ with the slope sqrt(5)",
    ),
    Recipe(
        "pytorch-linear",
        "bias",
        Uniform("1/sqrt(m)"),
        TORCH + "modules/linear.py",
        laws=("pytorch-linear-output",),
    ),
    Recipe(
        "pytorch-conv",
        "weight",
        Uniform("1/sqrt(c*k)"),
        TORCH + "modules/conv.py",
        "c*k",
        ("conv-grouped", *DEFAULT),
        "c counts the channels of one group",
    ),
    Recipe("pytorch-conv", "bias", Uniform("1/sqrt(c*k)"), TORCH + "modules/conv.py"),
    Recipe(
        "pytorch-conv-transposed",
        "weight",
        Uniform("1/sqrt(n*k)"),
        TORCH + "modules/conv.py",
        "c*k/s",
        ("conv-transposed",),
        "the second axis of the stored shape, which it takes for the fan-in, is n",
    ),
    Recipe("pytorch-embedding", "weight", Normal("1"), TORCH + "modules/sparse.py"),
    Recipe(
        "pytorch-attention",
        "in_proj_weight",
        Uniform("sqrt(6/(4*m))"),
        TORCH + "modules/activation.py",
        "m",
        ("fused-qkv-variance", "fused-qkv-logits"),
        "xavier_uniform_ on queries, keys and values in one matrix (3 m, m)",
    ),
    Recipe(
        "pytorch-attention",
        "out_proj.weight",
        Uniform("1/sqrt(m)"),
        TORCH + "modules/activation.py",
        "m",
        DEFAULT,
    ),
    Recipe("pytorch-attention", "biases", Constant("0"), TORCH + "modules/activation.py"),
    Recipe(
        "pytorch-lstm",
        "weight_ih",
        Uniform("1/sqrt(h)"),
        TORCH + "modules/rnn.py",
        "m",
        ("uniform-variance",),
        "by the hidden size, not by the fan-in",
    ),
    Recipe(
        "pytorch-lstm",
        "weight_hh",
        Uniform("1/sqrt(h)"),
        TORCH + "modules/rnn.py",
        "h",
        ("uniform-variance",),
    ),
    Recipe(
        "pytorch-lstm",
        "biases",
        Uniform("1/sqrt(h)"),
        TORCH + "modules/rnn.py",
        note="two of them are added, so that 2/(3 h) is added to the variance",
    ),
    Recipe(
        "pytorch-gru",
        "weights",
        Uniform("1/sqrt(h)"),
        TORCH + "modules/rnn.py",
        "h",
        ("uniform-variance",),
        "by the hidden size, as in an LSTM; those of an input of width m keep m/(3 h)",
    ),
    Recipe(
        "pytorch-bilinear",
        "weight",
        Uniform("1/sqrt(m)"),
        TORCH + "modules/linear.py",
        "m*d",
        ("pytorch-linear-bound", "product-variance"),
        "by the width m of the first input only: with d of the second, m d products are summed",
    ),
    Recipe(
        "pytorch-trunc_normal_",
        "std 1",
        Truncated("1", "2"),
        TORCH + "init.py",
        laws=("truncated-normal-absolute",),
        note="its bounds -2 and 2 are absolute",
    ),
    Recipe(
        "pytorch-trunc_normal_",
        "std 0.02",
        Truncated("0.02", "2"),
        TORCH + "init.py",
        laws=("truncated-normal-pytorch",),
        note="its bounds -2 and 2 are absolute: nothing is cut",
    ),
    Recipe(
        "pytorch-orthogonal_",
        "weight",
        Orthogonal("1", "m", "n"),
        TORCH + "init.py",
        "m",
        ("orthogonal-variance", "orthogonal-forward"),
    ),
    Recipe(
        "keras-dense",
        "kernel",
        Uniform("sqrt(6/(m + n))"),
        KERAS + "layers/core/dense.py",
        "m",
        XAVIER,
    ),
    Recipe("keras-dense", "bias", Constant("0"), KERAS + "layers/core/dense.py"),
    Recipe(
        "keras-conv",
        "kernel",
        Uniform("sqrt(6/(c*k + n*k))"),
        KERAS + "layers/convolutional/base_conv.py",
        "c*k",
        XAVIER,
        "with groups the fan-out n k is that of all groups",
    ),
    Recipe("keras-embedding", "embeddings", Uniform("0.05"), KERAS + "layers/core/embedding.py"),
    Recipe(
        "keras-attention",
        "query kernel",
        Uniform("sqrt(6/(m*h + m*d))"),
        KERAS + "layers/attention/multi_head_attention.py",
        "m",
        ("einsum-kernel", "einsum-kernel-xavier"),
        "glorot_uniform on the stored shape (m, h, d), whose fans it misreads",
    ),
    Recipe(
        "keras-lstm",
        "kernel",
        Uniform("sqrt(6/(m + 4*h))"),
        KERAS + "layers/rnn/lstm.py",
        "m",
        XAVIER,
        "four gates in one matrix (m, 4 h)",
    ),
    Recipe(
        "keras-lstm",
        "recurrent kernel",
        Orthogonal("1", "h", "4*h"),
        KERAS + "layers/rnn/lstm.py",
        "h",
        ("orthogonal-variance", "orthogonal-forward"),
        "four gates in one matrix (h, 4 h): a gate keeps 1/4",
    ),
    Recipe(
        "keras-gru",
        "kernel",
        Uniform("sqrt(6/(m + 3*h))"),
        KERAS + "layers/rnn/gru.py",
        "m",
        XAVIER,
        "three gates in one matrix (m, 3 h)",
    ),
    Recipe(
        "keras-he_normal",
        "kernel",
        corrected("sqrt(2/m)"),
        KERAS + "initializers/random_initializers.py",
        "m",
        ("he", "truncated-normal-correction"),
        UNDONE,
    ),
    Recipe(
        "keras-TruncatedNormal",
        "stddev 0.05",
        cut("0.05"),
        KERAS + "initializers/random_initializers.py",
        laws=("truncated-normal-factor",),
        note="the default; not made up for",
    ),
    Recipe(
        "tensorflow-truncated_normal",
        "stddev 1",
        cut("1"),
        "https://www.tensorflow.org/api_docs/python/tf/random/truncated_normal",
        laws=("truncated-normal-factor",),
    ),
    Recipe(
        "flax-dense",
        "kernel",
        corrected("sqrt(1/m)"),
        FLAX + "linear.py",
        "m",
        ("lecun", "truncated-normal-correction"),
        "lecun_normal; " + UNDONE,
    ),
    Recipe("flax-dense", "bias", Constant("0"), FLAX + "linear.py"),
    Recipe(
        "flax-conv",
        "kernel",
        corrected("sqrt(1/(c*k))"),
        FLAX + "linear.py",
        "c*k",
        ("conv-fan-in", "truncated-normal-correction"),
        "lecun_normal; " + UNDONE,
    ),
    Recipe(
        "flax-embed",
        "embedding",
        Normal("1/sqrt(d)"),
        FLAX + "linear.py",
        note="rows of length about 1",
    ),
    Recipe(
        "flax-attention",
        "query kernel",
        corrected("sqrt(1/m)"),
        FLAX + "attention.py",
        "m",
        ("einsum-kernel", "attention-qk"),
        "drawn in the shape (m, h d), then folded",
    ),
)
