/** The catalog {@code stoker}: a directory of datasets as tables. Runs on the threads of Flink's planner. */
package dev.stoker.sql.catalog;
