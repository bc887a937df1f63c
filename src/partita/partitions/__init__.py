"""Partitions as labels: canonical form, lattice, enumeration, counts."""

from partita.partitions.labels import canonical as canonical
from partita.partitions.labels import cluster_sizes as cluster_sizes
from partita.partitions.labels import clusters_to_labels as clusters_to_labels
from partita.partitions.labels import labels_to_clusters as labels_to_clusters
from partita.partitions.labels import n_clusters as n_clusters
from partita.partitions.lattice import bell as bell
from partita.partitions.lattice import covers as covers
from partita.partitions.lattice import enumerate_partitions as enumerate_partitions
from partita.partitions.lattice import join as join
from partita.partitions.lattice import meet as meet
from partita.partitions.lattice import random_crp as random_crp
from partita.partitions.lattice import random_uniform as random_uniform
from partita.partitions.lattice import refines as refines
from partita.partitions.lattice import stirling2 as stirling2
from partita.partitions.matching import align_labels as align_labels
