"""Rounds arrays and a model's weights to half precision; the results are float32."""
import numpy as np
import onnx


def rounded(array, precision):
    """Float32 numbers, each rounded to half precision."""
    if precision == "fp16":
        return array.astype(np.float16).astype(np.float32)
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def with_rounded_weights(path, precision):
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(onnx.numpy_helper.from_array(rounded(onnx.numpy_helper.to_array(tensor), precision), tensor.name))
    return model.SerializeToString()
