/**
 * {@code stoker sql}, which runs Flink's SQL client.
 */
package dev.stoker.cli.sql;
