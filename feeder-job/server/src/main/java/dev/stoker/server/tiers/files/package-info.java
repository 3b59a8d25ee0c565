/**
 * The directories of file tiers: their lock, space and access, and the catalogue of chunks in them.
 */
package dev.stoker.server.tiers.files;
