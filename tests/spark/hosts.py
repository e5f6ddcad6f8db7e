"""A cluster whose executors believe to be on several machines.

Spark starts a second attempt of a task on another machine only, so that a
``local-cluster`` never does. All of 127.0.0.0/8 is this machine: master and workers run
in the driver's JVM as in a ``local-cluster``, but every worker has its own address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext

MEMORY_MB = 1024


def start_hosts(count: int, work: Path, settings: dict[str, str]) -> str:
    """Start master and workers of one core each; return the address of the master."""
    conf = SparkConf().setAll(list(settings.items()))
    SparkContext._ensure_initialized(conf=conf)
    jvm: Any = SparkContext._jvm
    java_conf = jvm.org.apache.spark.SparkConf(True)
    for key, value in settings.items():
        java_conf.set(key, value)
    deploy, nothing = jvm.org.apache.spark.deploy, jvm.scala.Option.empty()
    started = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, java_conf)
    master = f"spark://127.0.0.1:{started._1().address().port()}"
    gateway: Any = SparkContext._gateway
    masters = gateway.new_array(jvm.java.lang.String, 1)
    masters[0] = master
    for number in range(count):
        deploy.worker.Worker.startRpcEnvAndEndpoint(
            *(f"127.0.0.{number + 2}", 0, 0, 1, MEMORY_MB, masters, str(work)),
            *(jvm.scala.Option.apply(number + 1), java_conf, nothing),
        )
    return master
