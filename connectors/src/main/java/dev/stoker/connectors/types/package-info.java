/** Flink's view of our own values between operators: opaque, each with its own serializer. Values only. */
package dev.stoker.connectors.types;
