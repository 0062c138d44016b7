#!/bin/bash
# A fit on the nodes of a Slurm allocation: one worker per node, with all of its cores.
#   sbatch --nodes=8 docs/cluster/slurm.sh CORPUS RUN
# CORPUS and RUN must be folders that all nodes share.
#SBATCH --job-name=citeweave
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --exclusive
set -euo pipefail

corpus=$1
run=$2
nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${nodes[0]}
port=6379
address=$head:$port

# the head first, then the others, which stay until the job ends
srun --nodes=1 --ntasks=1 -w "$head" \
  ray start --head --port=$port --num-cpus="$SLURM_CPUS_PER_TASK" --include-dashboard=false --block &
sleep 15
for node in "${nodes[@]:1}"; do
  srun --nodes=1 --ntasks=1 -w "$node" \
    ray start --address="$address" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
done
sleep 15

options=(--engine ray --workers "${#nodes[@]}" --threads "$SLURM_CPUS_PER_TASK" --address "$address")
if [ -d "$run" ]; then
  srun --overlap --nodes=1 --ntasks=1 -w "$head" citeweave resume "$run" "${options[@]}"
else
  srun --overlap --nodes=1 --ntasks=1 -w "$head" citeweave fit "$corpus" --out "$run" "${options[@]}"
fi
