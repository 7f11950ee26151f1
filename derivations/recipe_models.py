"""The rows of models in the table of recipes, as their sources say it."""

from varlaw.derivations.recipes import Constant, Normal, Recipe, Standardised, Truncated

HUGGING = "https://github.com/huggingface/transformers/blob/main/src/transformers/models/"
BERT = "https://github.com/google-research/bert/blob/master/modeling.py"
GPT2 = "https://github.com/openai/gpt-2/blob/master/src/model.py"
NANO = "https://github.com/karpathy/nanoGPT/blob/master/model.py"
NFNET = "https://github.com/google-deepmind/deepmind-research/blob/master/nfnets/base.py"
FIXUP = "https://github.com/hongyi-zhang/Fixup/blob/master/cifar/models/fixup_resnet_cifar.py"
TIMM = "https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/"
MUP = "https://arxiv.org/abs/2203.03466"


MODELS = (
    Recipe("bert", "weights", Truncated("0.02", "0.04"), BERT, "m", ("truncated-normal-bert",)),
    Recipe(
        "bert-transformers",
        "weights",
        Normal("0.02"),
        HUGGING + "bert/modeling_bert.py",
        "m",
        ("normal-std",),
        "the PyTorch port is not truncated",
    ),
    Recipe("gpt2", "weights", Normal("0.02"), GPT2, "m", ("normal-std",)),
    Recipe("gpt2", "wte", Normal("0.02"), GPT2),
    Recipe("gpt2", "wpe", Normal("0.01"), GPT2),
    Recipe(
        "llama-transformers",
        "weights",
        Normal("0.02"),
        HUGGING + "llama/modeling_llama.py",
        "m",
        ("normal-std",),
        "embeddings as well, and mistral alike; no branch is scaled by the depth",
    ),
    Recipe(
        "gpt2-transformers",
        "c_proj",
        Normal("0.02/sqrt(2*L)"),
        HUGGING + "gpt2/modeling_gpt2.py",
        "m",
        note="by the number 2 L of residual branches, not of blocks",
    ),
    Recipe("nanogpt", "weights", Normal("0.02"), NANO, "m"),
    Recipe("nanogpt", "c_proj", Normal("0.02/sqrt(2*L)"), NANO, "m"),
    Recipe("nanogpt", "wte, wpe", Normal("0.02"), NANO),
    Recipe(
        "t5",
        "q",
        Normal("1/sqrt(m*d)"),
        HUGGING + "t5/modeling_t5.py",
        "m",
        ("attention-qk",),
        "the 1/sqrt(d) of the logits is in the queries alone",
    ),
    Recipe("t5", "k, v", Normal("1/sqrt(m)"), HUGGING + "t5/modeling_t5.py", "m", ("lecun",)),
    Recipe("t5", "o", Normal("1/sqrt(h*d)"), HUGGING + "t5/modeling_t5.py", "h*d", ("lecun",)),
    Recipe("t5", "wi, wo", Normal("1/sqrt(m)"), HUGGING + "t5/modeling_t5.py", "m", ("lecun",)),
    Recipe("t5", "shared", Normal("1"), HUGGING + "t5/modeling_t5.py"),
    Recipe(
        "nfnet",
        "conv",
        Standardised("1/sqrt(c*k)"),
        NFNET,
        "c*k",
        ("conv-fan-in", "gain-relu-variance"),
        "standardised for each output at every step; the activations carry their gain",
    ),
    Recipe(
        "fixup",
        "conv1",
        Normal("sqrt(2/(n*k))/sqrt(L)"),
        FIXUP,
        "c*k",
        ("he-backward",),
        "He's law by fan-out, times L^(-1/(2 m - 2)) for branches of two layers",
    ),
    Recipe("fixup", "conv2", Constant("0"), FIXUP, "c*k", note="the last layer of each branch"),
    Recipe("fixup", "fc", Constant("0"), FIXUP, "m"),
    Recipe(
        "timm-vit",
        "linear",
        Truncated("0.02", "2"),
        TIMM + "vision_transformer.py",
        "m",
        ("truncated-normal-pytorch",),
        "absolute bounds: nothing is cut",
    ),
    Recipe(
        "timm-convnext",
        "conv, linear",
        Truncated("0.02", "2"),
        TIMM + "convnext.py",
        laws=("truncated-normal-pytorch", "layer-scale-gradient"),
        note="absolute bounds; branches are scaled by 1e-6 at the start",
    ),
    Recipe("mup", "hidden", Normal("1/sqrt(m)"), MUP, "m", ("lecun",)),
    Recipe(
        "mup",
        "output",
        Normal("1/m"),
        MUP,
        "m",
        note="the output is as small as 1/sqrt(m): std 1/m, not variance 1/m",
    ),
)
