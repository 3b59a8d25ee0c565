/**
 * The Flink batch job that packs samples into chunks and commits one version.
 */
package dev.stoker.ingest;
