// Stands for packages that a bundle leaves out, and does nothing.
module.exports = () => undefined;
