/**
 * Single values by their type. Stateless.
 */
package dev.stoker.schemas.values;
