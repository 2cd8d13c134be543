"""Fused operators of PyTorch's inference that ONNX lacks, in operators that it has."""
from __future__ import annotations

import operator
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.nn import functional  # type: ignore[import-not-found,unused-ignore]


def _encoder_layer(src: torch.Tensor, embed_dim: int, num_heads: int, qkv_weight: torch.Tensor, qkv_bias: torch.Tensor,
                   proj_weight: torch.Tensor, proj_bias: torch.Tensor, use_gelu: bool, norm_first: bool, eps: float,
                   norm_weight_1: torch.Tensor, norm_bias_1: torch.Tensor, norm_weight_2: torch.Tensor,
                   norm_bias_2: torch.Tensor, ffn_weight_1: torch.Tensor, ffn_bias_1: torch.Tensor,
                   ffn_weight_2: torch.Tensor, ffn_bias_2: torch.Tensor, mask: torch.Tensor | None = None,
                   mask_type: int | None = None) -> Any:
    """nn.TransformerEncoderLayer without gradients: SRC is (batch, tokens, embed_dim). With a mask it stays fused."""
    if mask is not None or src.is_nested:
        return NotImplemented

    def norm_1(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def norm_2(x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attention(x: torch.Tensor) -> torch.Tensor:
        heads = functional.linear(x, qkv_weight, qkv_bias).reshape(*x.shape[:2], 3, num_heads, embed_dim // num_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return functional.linear(mixed.transpose(1, 2).flatten(2), proj_weight, proj_bias)

    def feed_forward(x: torch.Tensor) -> torch.Tensor:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        return functional.linear(functional.gelu(inner) if use_gelu else inner.relu(), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attention(norm_1(src))
        return x + feed_forward(norm_2(x))
    x = norm_1(src + attention(src))
    return norm_2(x + feed_forward(x))


# What scaled_dot_product_attention becomes on a GPU. The first output is its result; the others are for gradients.
_ATTENTION = (torch.ops.aten._scaled_dot_product_efficient_attention.default,
              torch.ops.aten._scaled_dot_product_flash_attention.default,
              torch.ops.aten._scaled_dot_product_cudnn_attention.default)


def unfuse_attention(graph: Any) -> None:
    """Makes the attention of GPUs in GRAPH scaled_dot_product_attention again, which the exporter knows."""
    for node in list(graph.nodes):
        if node.target not in _ATTENTION or any(user.target is not operator.getitem or user.args[1] for user in node.users):
            continue
        names = [argument.name for argument in node.target._schema.arguments]
        given = dict(zip(names, node.args)) | dict(node.kwargs)
        with graph.inserting_before(node):
            plain = graph.call_function(torch.ops.aten.scaled_dot_product_attention.default,
                                        (given["query"], given["key"], given["value"], given.get("attn_bias"),
                                         given.get("dropout_p", 0.0), given.get("is_causal", False)),
                                        {"scale": given.get("scale")})
        for user in list(node.users):
            user.replace_all_uses_with(plain)
            graph.erase_node(user)
        graph.erase_node(node)


TABLE = {torch.ops.aten._transformer_encoder_layer_fwd.default: _encoder_layer}
