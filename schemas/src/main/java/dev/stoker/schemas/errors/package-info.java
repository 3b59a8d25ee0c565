/**
 * Exceptions for files that cannot be read: corrupt, too new, or not written by Stoker. Every message names the file,
 * the expected and found content, and the next step.
 */
package dev.stoker.schemas.errors;
