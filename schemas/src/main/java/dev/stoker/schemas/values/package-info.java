/**
 * Single values: numbers by their type, and text.
 */
package dev.stoker.schemas.values;
