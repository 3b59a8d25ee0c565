/** JSON that all modules read and write in the same way. Thread-safe. */
package dev.stoker.schemas.json;
