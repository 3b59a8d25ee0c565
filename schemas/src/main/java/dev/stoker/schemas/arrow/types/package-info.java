/**
 * Types of fields, and the fields and schemas that they make.
 */
package dev.stoker.schemas.arrow.types;
