/**
 * Flink type information for Stoker's values between operators: opaque types, each with its own serializer. Contains
 * only values.
 */
package dev.stoker.flink.types;
