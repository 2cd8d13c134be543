"""Networks of keras.applications with random weights that give every layer unit variance, and their exporters."""
import pathlib
import tempfile

import export
import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from compare import eight_bits, exact, sample_images
from export import RUN_BATCH, CannotExport, redrawn

# The network, and the image's side.
NETWORKS = {
    "ConvNeXtTiny": 96, "DenseNet121": 96, "EfficientNetB0": 96, "EfficientNetV2B0": 96, "InceptionV3": 128,
    "MobileNet": 96, "MobileNetV2": 96, "MobileNetV3Large": 96, "MobileNetV3Small": 96, "NASNetMobile": 96,
    "ResNet50": 96, "ResNet50V2": 96, "VGG16": 96, "Xception": 96,
}
# Written by tf2onnx, by tf2onnx with --inputs-as-nchw, by Keras itself, and from a quantised TFLite file.
EXPORTERS = ("tf2onnx", "tf2onnx_nchw", "keras", "tflite")
OPSETS = (18, 17, 15, 13, 11)
QUICK = {"names": ("keras.MobileNetV2",), "opset": (13,), "batch": ("dynamic",), "exporter": ("tf2onnx", "keras")}
PRODUCTS = ("kernel", "depthwise_kernel", "pointwise_kernel")


class Network(export.Network):
    def inputs(self, batch):
        """Two batches of photographs for Keras: channels last, 0..255 if the network normalises them."""
        rescales = any(isinstance(layer, keras.layers.Rescaling) for layer in self.module.layers)
        feeds = (p.transpose(0, 2, 3, 1) * (57 if rescales else 1) + (115 if rescales else 0)
                 for p in sample_images(self, batch))
        return [np.ascontiguousarray(feed, np.float32) for feed in feeds]


def names():
    return [f"keras.{name}" for name in NETWORKS]


def make(name):
    """The network NAME with deterministic random weights."""
    keras.utils.set_random_seed(0)
    name = name.removeprefix("keras.")
    side = NETWORKS[name]
    # Without the last Softmax: with a thousand classes its quantised output has only a few steps.
    module = getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classifier_activation=None)
    network = Network(module, (3, side, side))
    photographs = network.inputs(2)[0]
    give_unit_variance(network.module, np.concatenate([photographs, photographs[:, :, ::-1]]))
    return network


def give_unit_variance(model, inputs):
    random = np.random.default_rng(0)
    calls = {}
    for layer in {id(layer): layer for layer in model._flatten_layers(include_self=False)}.values():
        of_product = any(hasattr(layer, key) for key in PRODUCTS)
        for variable in layer._trainable_variables:
            variable.assign(redrawn(random, variable.numpy(), variable.name, of_product))
        if of_product or isinstance(layer, keras.layers.BatchNormalization):
            calls[layer] = layer.call
            layer.call = scaled_once(layer) if of_product else measured(layer)
    model(inputs, training=False)
    for layer, call in calls.items():
        layer.call = call


def scaled_once(layer):
    """The layer's call, preceded by scaling of its weights to unit variance of its output."""
    call = layer.call
    todo = [True]

    def scale_and_call(x, *args, **options):
        activation, layer.activation = layer.activation, keras.activations.linear
        deviation = float(np.std(call(x, *args, **options)))
        layer.activation = activation
        if todo and deviation > 1e-6:
            todo.clear()
            kernel = [key for key in PRODUCTS if getattr(layer, key, None) is not None][-1]
            for variable in filter(lambda v: v is not None, (getattr(layer, kernel), layer.bias)):
                variable.assign(variable / deviation)
        return call(x, *args, **options)

    return scale_and_call


def measured(layer):
    """A batch norm's call, preceded by setting its statistics to those of its input."""
    call = layer.call

    def measure_and_call(x, *args, **options):
        rows = np.asarray(x).reshape(-1, x.shape[-1])
        variance = rows.var(0)
        layer.moving_mean.assign(rows.mean(0))
        layer.moving_variance.assign(variance.clip(min=variance.mean() * 0.1))
        return call(x, *args, **options)

    return measure_and_call


class Exporter(export.Exporter):
    """tf2onnx in its three forms, and Keras's own exporter."""

    def __init__(self, network, exporter, batch):
        super().__init__(network, exporter, batch)
        self.lite = None

    def write(self, path, opset):
        getattr(self, f"_{self.exporter}")(str(path), opset)

    def feeds(self):
        feeds = self.network.inputs(RUN_BATCH[self.batch])
        if self.exporter == "tf2onnx_nchw":
            return [np.ascontiguousarray(feed.transpose(0, 3, 1, 2)) for feed in feeds]
        return feeds

    def check(self, binary, path):
        compare = eight_bits if self.exporter == "tflite" else exact
        return compare(binary, path, self.feeds())

    def _shape(self):
        channels, height, width = self.network.image_shape
        return (1 if self.batch == "static" else None, height, width, channels)

    def _signature(self):
        return [tf.TensorSpec(self._shape(), tf.float32, name="image")]

    def _tf2onnx(self, path, opset, **options):
        tf2onnx.convert.from_keras(self.network.module, self._signature(), opset=opset, output_path=path, **options)

    def _tf2onnx_nchw(self, path, opset):
        self._tf2onnx(path, opset, inputs_as_nchw=["image:0"])

    def _keras(self, path, opset):
        signature = [keras.InputSpec(shape=self._shape(), dtype="float32", name="image")]
        self.network.module.export(path, format="onnx", input_signature=signature, opset_version=opset, verbose=False)

    def _tflite(self, path, opset):
        if self.batch == "dynamic":
            raise CannotExport("TFLite's batch is one")
        if self.lite is None:
            self.lite = quantised(self.network)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.tflite"
            file.write_bytes(self.lite)
            tf2onnx.convert.from_tflite(str(file), opset=opset, output_path=path)


def quantised(network):
    """A TFLite file, calibrated on photographs: int8 inside, float32 at its inputs and outputs."""
    converter = tf.lite.TFLiteConverter.from_keras_model(network.module)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image] for image in network.inputs(1))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return converter.convert()
