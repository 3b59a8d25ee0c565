/**
 * Verification: reads what a version names, and reports what is missing or damaged.
 */
package dev.stoker.metadata.verify;
