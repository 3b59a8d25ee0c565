/** Names of format features that a container can require of its reader. Pure code: no threads, sockets or files. */
package dev.stoker.schemas.features;
