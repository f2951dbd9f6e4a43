# %% one
def read_scores(text):
    rows = [line.split(",") for line in text.splitlines() if line.strip()]
    good = [(-float(points), name) for name, points in rows if float(points) >= 50]
    return [name for _, name in sorted(good)]

def mean_by_group(groups, values):
    found = {}
    for group, value in zip(groups, values):
        found.setdefault(group, []).append(value)
    return {group: sum(v) / len(v) for group, v in found.items()}

# %% two
import numpy as np

def read_scores(text):
    pairs = {}
    names, points = [], []
    for line in text.strip().split("\n"):
        name, _, number = line.partition(",")
        names.append(name)
        points.append(int(number))
    order = sorted(range(len(names)), key=lambda i: (-points[i], names[i]))
    return [names[i] for i in order if points[i] >= 50]

def mean_by_group(groups, values):
    groups, values = np.array(groups), np.array(values)
    return {str(g): values[groups == g].mean() for g in set(groups.tolist())}

# %% three
import csv
import io
from statistics import mean

def read_scores(text):
    rows = sorted(csv.reader(io.StringIO(text)), key=lambda row: row[0])
    rows = sorted(rows, key=lambda row: int(row[1]), reverse=True)
    return [row[0] for row in rows if int(row[1]) > 49]

def mean_by_group(groups, values):
    return {g: mean(v for h, v in zip(groups, values) if h == g) for g in dict.fromkeys(groups)}
