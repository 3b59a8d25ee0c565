/**
 * Typed failures of reading what Stoker has written: corrupt, too new, or not Stoker's at all. Every message says
 * which file, what was expected and found, and what to do next.
 */
package dev.stoker.schemas.errors;
