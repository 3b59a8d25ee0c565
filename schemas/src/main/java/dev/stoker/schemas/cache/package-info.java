/** Values that are kept in memory within a limit of bytes. Thread-safe. */
package dev.stoker.schemas.cache;
