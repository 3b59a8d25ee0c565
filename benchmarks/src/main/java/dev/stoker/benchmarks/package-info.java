/**
 * Measurements, outside the default build.
 */
package dev.stoker.benchmarks;
