/** The work units of the dataset source: runs of chunks. Values only. */
package dev.stoker.connectors.dataset.source.split;
