"""Connections and messages between a box and the examiner."""
