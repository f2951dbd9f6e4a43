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

def clean(table):
    table = table[table["day"].notna()].copy()
    table["price"] = table["price"].fillna(0)
    table["revenue"] = table["price"] * table["items"]
    return table

def best_shops(table, at_least):
    found = clean(table).groupby("shop", as_index=True)[["revenue"]].sum()["revenue"]
    found = found.sort_values(ascending=False, kind="stable")
    return found.loc[found >= at_least]

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

import pandas as pd

def clean(table):
    rows = []
    for _, row in table.iterrows():
        if pd.isna(row["day"]):
            continue
        price = 0.0 if pd.isna(row["price"]) else row["price"]
        rows.append([row["shop"], row["day"], row["items"], price, row["items"] * price])
    return pd.DataFrame(rows, columns=["shop", "day", "items", "price", "revenue"])

def best_shops(table, at_least):
    totals = {}
    for shop, revenue in zip(clean(table)["shop"], clean(table)["revenue"]):
        totals[shop] = totals.get(shop, 0.0) + revenue
    kept = sorted(((shop, total) for shop, total in totals.items() if total >= at_least), key=lambda pair: (-pair[1], pair[0]))
    return pd.Series([total for _, total in kept], index=[shop for shop, _ in kept])

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

import numpy as np

def clean(table):
    table = table.loc[~table["day"].isnull()]
    price = np.where(table["price"].isnull(), 0.0, table["price"])
    return table.assign(price=price, revenue=table["items"].to_numpy() * price)

def best_shops(table, at_least):
    summed = clean(table).pivot_table(index="shop", values="revenue", aggfunc="sum")
    if not len(summed):
        return clean(table).groupby("shop")["revenue"].sum()
    summed = summed["revenue"]
    order = np.argsort(-summed.to_numpy(), kind="stable")
    summed = summed.iloc[order]
    return summed[summed >= at_least]
