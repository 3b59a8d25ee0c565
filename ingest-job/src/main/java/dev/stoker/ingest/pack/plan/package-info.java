/**
 * The plan of an ingest of files, which each task receives.
 */
package dev.stoker.ingest.pack.plan;
