"""Connections and messages between the box and the examiner."""
