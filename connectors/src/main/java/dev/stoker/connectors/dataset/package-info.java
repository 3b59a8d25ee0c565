/**
 * What the sinks of a dataset and the tasks before them share: descriptions of a run, reports of packing tasks, and the
 * position of a dataset in a topic. This package is independent of the source of the samples and has no threads.
 */
package dev.stoker.connectors.dataset;
