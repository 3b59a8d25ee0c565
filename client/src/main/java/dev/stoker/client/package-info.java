/**
 * The Java trainer client. Does not use Flink.
 */
package dev.stoker.client;
