/** Random lives of datasets, with faults and other writers, against a model: see {@code docs/simulation.md}. */
package dev.stoker.metadata.simulation;
