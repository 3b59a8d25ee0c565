/**
 * The table connector {@code stoker}: options, sources and sinks of Flink SQL over the DataStream connectors of
 * {@link dev.stoker.connectors.dataset}. Planning runs on the thread of the client and opens the dataset's description.
 */
package dev.stoker.sql.table;
