"""The losses, losses between partitions, and expected losses over draws."""

from partita.losses.base import Loss as Loss
from partita.losses.losses import LOSSES as LOSSES
from partita.losses.losses import as_loss as as_loss
