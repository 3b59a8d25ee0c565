/** The process in which {@code stoker sql} runs Flink's SQL client. */
package dev.stoker.sql.client;
