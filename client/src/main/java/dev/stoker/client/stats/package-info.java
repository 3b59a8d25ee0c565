/** The numbers that a client keeps: what it received, and how long and for what it waited. */
package dev.stoker.client.stats;
