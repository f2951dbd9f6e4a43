"""The examiner's side of the box: start a fork server, keep boxes ready, ask them, end them."""

from viva.box.outside.box import Box
from viva.box.outside.detect import detect_tiers
from viva.box.outside.gpu_boxes import GpuBoxes
from viva.box.outside.hello import Hello
from viva.box.outside.pool import Pool
from viva.box.outside.tiers import TierReport
from viva.box.outside.zygote import Zygote

__all__ = ["Box", "GpuBoxes", "Hello", "Pool", "TierReport", "Zygote", "detect_tiers"]
