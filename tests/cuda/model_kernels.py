#!/usr/bin/env python3
"""Compiles every kernel that the models of ../shared need with NVRTC, without a GPU, and prints their resource usage.

    model_kernels.py --binary build/saccade --emulator DIR --shared ../shared --filled DIR --headers DIR --work DIR
                     [--only NAME ...] [--sample N]

All models are compiled to plans on the emulated GPU, which writes the kernels' sources instead of running them. They are
compiled in fp32 and fp16, some in bf16, from tensors, and, if the model is recognised, in fp16 as a pipeline from frames
to predictions. Plans from tensors also run, which checks the launches' arguments. All kernels are compiled for sm_90a, or
with --sample N at most N of each kernel family, and models that are not among SOME only in fp16 from tensors. For the
architectures of SAMPLED, plans of SOME models are made and SAMPLE of each family are compiled, in fp16.
compile_kernels.py defines the faults. Exit status 77: skipped.
"""
import argparse
import collections
import glob
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile

import compile_kernels

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "parity"))
import parity  # noqa: E402  (beside the tests that share its filled models)

BF16 = {"resnet50", "yolov8n", "vit_b_16", "mobilenet_v3_large", "shufflenet-v2-12-int8_qlinear"}
SOME = {"resnet18_bn", "mobilenet_v3_large", "yolov8n", "rfdetr_seg_nano_312", "face_yolo11n_qdq_640", "vit_b_16"}
SAMPLED = {"8.0": "sm_80", "8.6": "sm_86", "8.9": "sm_89", "10.0": "sm_100a", "12.0": "sm_120a"}
SAMPLE = 2  # of a family

Job = collections.namedtuple("Job", "model precision capability pipeline")


def name_of(model):
    return os.path.splitext(os.path.basename(model))[0]


def jobs_for(models, is_sample):
    jobs = []
    for model in models:
        if is_sample and name_of(model) not in SOME:
            jobs.append(Job(model, "fp16", "9.0", pipeline=False))
            continue
        for precision in ["fp32", "fp16"] + ["bf16"] * (name_of(model) in BF16):
            jobs.append(Job(model, precision, "9.0", pipeline=False))
            if precision == "fp16":
                jobs.append(Job(model, precision, "9.0", pipeline=True))
            if name_of(model) in SOME and precision == "fp16":
                jobs += [Job(model, precision, c, False) for c in SAMPLED]
    return jobs


def sources_of(args, capability):
    return os.path.join(args.work, "sources", capability)


def make_plan(task):
    """The error of a job; None if there is none or the model is not recognised."""
    args, job = task
    # A run checks that every launch gets device memory. Predictions from frames need kernels that run.
    subcommand = ["inspect", "--pipeline"] if job.pipeline else ["infer"]
    command = [args.binary, *subcommand, job.model, "--device", "cuda", "--precision", job.precision, "--threads", "1"]
    environment = os.environ | {
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, [args.emulator, os.environ.get("LD_LIBRARY_PATH")])),
        "SACCADE_EMULATOR_RUN": "no", "SACCADE_EMULATOR_CAPABILITY": job.capability, "SACCADE_CACHE": "",
        "SACCADE_EMULATOR_SOURCES": sources_of(args, job.capability)}
    with tempfile.TemporaryDirectory() as outputs:
        command += [] if job.pipeline else ["--output", outputs]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == 0 or (job.pipeline and "is not recognised" in done.stderr):
        return None
    return f"{name_of(job.model)} in {job.precision} for {job.capability}: {done.stderr.strip()[-400:]}"


def prepared_models(args):
    """The models below shared/models, with weights."""
    folder = os.path.join(args.shared, "models")
    models = sorted(glob.glob(os.path.join(folder, "*", "*.onnx")))
    models = [model for model in models if not args.only or name_of(model) in args.only]
    names = [os.path.splitext(os.path.relpath(model, folder))[0] for model in models]
    return [parity.prepared(argparse.Namespace(shared=args.shared, work=args.filled, model=name)) for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--binary", "--emulator", "--shared", "--filled", "--headers", "--work"):
        parser.add_argument(option, required=True)
    parser.add_argument("--sample", type=int, help="of each kernel family for sm_90a (default: all)")
    parser.add_argument("--only", nargs="+", help="these models, without .onnx")
    args = parser.parse_args()
    if compile_kernels.open_nvrtc() is None:
        compile_kernels.skip()
    try:
        models = prepared_models(args)
    except subprocess.CalledProcessError:
        models = []
    if not models:
        parity.skip("needs ../shared/models, and ./script/bootstrap --peers to fill them")
    shutil.rmtree(os.path.join(args.work, "sources"), ignore_errors=True)
    jobs = jobs_for(models, args.sample is not None)
    with multiprocessing.Pool() as pool:
        wrong = [fault for fault in pool.map(make_plan, [(args, job) for job in jobs], chunksize=1) if fault]
    for fault in wrong:
        print(fault)
    faults = len(wrong)
    cache = os.path.join(args.work, "cache")
    for capability, architecture in {"9.0": "sm_90a", **SAMPLED}.items():
        sources = sorted(glob.glob(os.path.join(sources_of(args, capability), "*.cu")))
        if not sources and (capability == "9.0" or not args.only):
            print(f"no kernels for {architecture}")
            faults += 1
        sample = SAMPLE if capability in SAMPLED else args.sample
        if sample:
            sources = compile_kernels.sample_of(sources, sample)
        faults += compile_kernels.compile_all(sources, architecture, args.headers, cache)
    print(f"{len(models)} models, {len(jobs)} plans: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
